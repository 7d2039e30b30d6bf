/** Tells the files that a page is made of, or that are downloaded, from pages. */

/** The extensions of what is no page. */
const ASSETS: ReadonlySet<string> = new Set(
  `
  avif bmp gif heic ico jpeg jpg png svg tif tiff webp
  css js map mjs wasm json xml txt csv webmanifest
  eot otf ttf woff woff2
  avi flv m4a m4v mov mp3 mp4 ogg swf wav webm wmv
  7z bz2 deb dmg exe gz iso jar pdf rar rpm tar tgz zip
  `
    .trim()
    .split(/\s+/),
)

/** Whether a path ends like a file that is no page. */
export function isAsset(path: string): boolean {
  const extension = /\.([A-Za-z0-9]+)$/.exec(path)?.[1]
  return extension !== undefined && ASSETS.has(extension.toLowerCase())
}
