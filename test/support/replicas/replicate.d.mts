/** Returns why the library in a file is not the known build; undefined if it is. */
export function describeFile(library: string): string | undefined
