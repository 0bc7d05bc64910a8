import { defineConfig } from "vite";

// A classic script: pages that are opened from the disk may load no modules.
export default defineConfig({
  publicDir: false,
  define: { "process.env.NODE_ENV": JSON.stringify("production") },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../metassay/reporting/bundle",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    reportCompressedSize: false,
    lib: { entry: "src/main.tsx", formats: ["iife"], name: "page", fileName: () => "app.js", cssFileName: "app" },
  },
});
