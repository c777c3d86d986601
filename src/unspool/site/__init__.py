"""The site: sessions as pages that open from disk, from any web server, on a phone, in ten years. Imports render,
the store and what stands below; pages are pure functions, `build` writes them to disk."""
