/** Type-checks modules that exist in memory only. */
import ts from 'typescript'

/**
 * Returns what the compiler says about modules and what they import, under `strict`.
 *
 * @param texts the modules by their absolute paths; the first is where the compiler begins
 * @param types the packages whose global types they may use
 */
export function checkTypes(
  texts: ReadonlyMap<string, string>,
  types: readonly string[],
): readonly ts.Diagnostic[] {
  const options: ts.CompilerOptions = {
    strict: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    skipLibCheck: true,
    noEmit: true,
    types: [...types],
  }
  const host = ts.createCompilerHost(options)
  host.readFile = (name) => texts.get(name) ?? ts.sys.readFile(name)
  host.fileExists = (name) => texts.has(name) || ts.sys.fileExists(name)
  const [root = ''] = texts.keys()
  return ts.getPreEmitDiagnostics(ts.createProgram([root], options, host))
}
