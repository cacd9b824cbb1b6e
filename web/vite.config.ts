import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  root: at('.'),
  plugins: [react(), tailwindcss()],
  resolve: { alias: { 'tooldex/client': at('../src/surfaces/client/index.ts') } },
  // The server replaces it in every response.
  html: { cspNonce: '__NONCE__' },
  build: {
    outDir: at('../dist/web'),
    emptyOutDir: true,
    target: 'es2023',
    license: { fileName: 'licenses.md' },
    // Data URLs are not in the Content-Security-Policy.
    assetsInlineLimit: 0,
    // React creates its polyfill of modulepreload from markup, which Trusted Types refuse.
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/session', '/docs', '/openapi.json', '/mcp'].map((path) => [
        path,
        { target: process.env.TOOLDEX_URL ?? 'http://127.0.0.1:7331' },
      ]),
    ),
  },
})
