import { openStore } from "../src/substrate/index.ts";
import { SessionStore } from "../src/sessions/index.ts";
import { systemClock } from "../src/base/clock.ts";
import { corpus } from "./corpus.ts";
import { mkdtempSync, rmSync } from "node:fs";
const [rows, bytes, mode] = process.argv.slice(2);
const dir = mkdtempSync("/tmp/dbg-");
const s = await SessionStore.open(await openStore(dir));
const w = s.ingest({clock: systemClock, limits: {rows: +rows!, bytes: +bytes!}});
let ev = []; const t0 = process.cpuUsage(); const t = performance.now();
for (const e of corpus({name:"", sessions: 1, messages: 100000})) { ev.push(e); if (ev.length===500) { await w.add(ev); ev=[]; if (mode==="gc") (globalThis as any).gc(); } }
await w.add(ev); await w.flush();
const c = process.cpuUsage(t0);
console.log(rows, bytes, mode, "wall", ((performance.now()-t)/1000).toFixed(1), "cpu", ((c.user+c.system)/1e6).toFixed(1), "maxrss", (process.resourceUsage().maxRSS/1024)|0, "heap", (process.memoryUsage().heapUsed/1e6)|0, w.summary().commits);
rmSync(dir,{recursive:true});
