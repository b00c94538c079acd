/** `npm run bench -- <name>`: each benchmark is a file of its own. Times are noisy here: read the ratios. */
const name = process.argv[2] ?? "";
const bench = (await import(`./${name}.ts`)) as { run(): Promise<void> };
await bench.run();
