import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

// What is served is a copy of these packages, whose licences want to be told.
const packages = ["preact", "@preact/signals", "@preact/signals-core", "uplot"];

function licences(): Plugin {
  return {
    name: "licences",
    generateBundle() {
      const texts = packages.map((name) => {
        const text = readFileSync(new URL(`node_modules/${name}/LICENSE`, import.meta.url), "utf8");
        return `${name}\n\n${text.trim()}\n`;
      });
      this.emitFile({ type: "asset", fileName: "assets/licences.txt", source: texts.join("\n\n") });
    },
  };
}

export default defineConfig({
  base: "/desk/",
  plugins: [licences()],
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    target: "es2022",
    // The content security policy allows files of the node alone, no code or picture inside a page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rollupOptions: {
      output: {
        entryFileNames: "assets/desk-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  server: { proxy: { "/_rf": "http://127.0.0.1:7401", "/metrics": "http://127.0.0.1:7401" } },
});
