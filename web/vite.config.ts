import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

/// What is served is a copy of these packages, whose licences want to be told.
function licences(packages: string[]): Plugin {
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

const parts = ["preact", "@preact/signals", "@preact/signals-core"];
const pages = {
  desk: { page: "index.html", base: "/desk/", out: "dist", packages: [...parts, "uplot"] },
  // Relative, so that a proxy may show the portal somewhere else.
  portal: { page: "portal.html", base: "./", out: "dist-portal", packages: parts },
};

/// The desk, unless `--mode portal` asks for the page of webhooks' subscribers.
export default defineConfig(({ mode }) => {
  const name = mode === "portal" ? "portal" : "desk";
  const { page, base, out, packages } = pages[name];
  return {
    base,
    plugins: [licences(packages)],
    esbuild: { jsx: "automatic", jsxImportSource: "preact" },
    build: {
      outDir: out,
      target: "es2022",
      // The content security policy allows files of the node alone, no code or picture inside a page.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rollupOptions: {
        input: page,
        output: {
          entryFileNames: `assets/${name}-[hash].js`,
          assetFileNames: "assets/[name]-[hash][extname]",
        },
      },
    },
    server: { proxy: { "/_rf": "http://127.0.0.1:7401", "/metrics": "http://127.0.0.1:7401" } },
  };
});
