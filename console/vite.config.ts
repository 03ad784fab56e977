// SPDX-License-Identifier: Apache-2.0

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import preact from "@preact/preset-vite";
import { defineConfig, type Plugin } from "vite";

const service = process.env["PLIMSOLL_URL"] ?? "http://127.0.0.1:8778";
const outDir = process.env["PLIMSOLL_CONSOLE_OUT"] ?? "../src/plimsoll/console_static";

/** Write FILE.gz and FILE.br beside every text file of the build, so that the service compresses nothing. */
function compressed(): Plugin {
  let directory = outDir;
  return {
    name: "compressed",
    apply: "build",
    configResolved(config) {
      directory = join(config.root, config.build.outDir);
      if (config.build.outDir.startsWith("/")) directory = config.build.outDir;
    },
    closeBundle() {
      for (const entry of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
        if (!/\.(js|css|html|svg)$/.test(entry)) continue;
        const path = join(directory, entry);
        const content = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
        writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
      }
    },
  };
}

export default defineConfig(({ command }) => ({
  // The addresses in index.html are relative to its <base>, which the service sets to the path it is mounted at.
  base: command === "build" ? "./" : "/console/",
  plugins: [preact({ devToolsEnabled: false, prefreshEnabled: false }), compressed()],
  build: {
    outDir,
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
  server: {
    port: Number(process.env["PORT"] ?? 5173),
    proxy: {
      "/plimsoll": service,
      "/allocation_candidates": service,
      "/traits": service,
      "/resource_classes": service,
      "/console/session": service,
      "/console/sign-in": service,
    },
  },
}));
