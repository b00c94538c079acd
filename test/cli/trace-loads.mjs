/** Preloaded by a test: names every module that is loaded, on stderr. */
import { writeSync } from "node:fs";
import { registerHooks } from "node:module";

registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) writeSync(2, `LOADED ${url}\n`);
    return next(url, context);
  },
});
