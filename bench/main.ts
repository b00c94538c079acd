/** `npm run bench -- <name>`: each benchmark is a file of its own. Times are noisy here: read the ratios. */
const name = process.argv[2] ?? "";
const { run } = (await import(`./${name}.ts`)) as { run(): Promise<void> };
await run();
