/** Distinguishes pages from the files they load and from downloads, by the extension of the path. */

/** The extensions of files that are not pages. */
const ASSET_EXTENSIONS: ReadonlySet<string> = new Set(
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

/** Whether a path ends in the extension of a file that is not a page. */
export function isAsset(path: string): boolean {
  const extension = /\.([A-Za-z0-9]+)$/.exec(path)?.[1]
  return extension !== undefined && ASSET_EXTENSIONS.has(extension.toLowerCase())
}
