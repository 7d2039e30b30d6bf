/** Compares the rights of an account with those that it needs. */

/** Rights on a database, a table or, for TABLE ENGINE, an engine. */
interface Grant {
  /** Each with its columns, if it is limited to some. */
  readonly rights: readonly Right[]
  /** `*.*`, `database.*`, `database.table` or the name of an engine. */
  readonly target: string
}

interface Right {
  readonly name: string
  readonly columns: readonly string[]
}

const GRANT = /^(?:GRANT )?(?<rights>.+?) ON (?<target>\S+)/
const RIGHT = /^(?<name>[^(]+?)(?:\((?<columns>.*)\))?$/

function parseGrant(text: string): Grant {
  const { rights = '', target = '' } = GRANT.exec(text.replaceAll('`', ''))?.groups ?? {}
  return {
    // A comma between columns does not separate rights.
    rights: rights.split(/, (?![^(]*\))/).map(parseRight),
    target,
  }
}

function parseRight(text: string): Right {
  const { name = '', columns } = RIGHT.exec(text)?.groups ?? {}
  return { name, columns: columns?.split(', ') ?? [] }
}

/**
 * Returns the needed rights that an account lacks, each with its target. Rights that were revoked from a part of what was
 * granted count as granted.
 *
 * @param granted the rows of SHOW GRANTS, such as `GRANT SELECT ON stats.* TO reader`
 * @param needed the same without the word and the account, such as `SELECT, INSERT ON stats.*`
 */
export function findMissingRights(
  granted: readonly string[],
  needed: readonly string[],
): readonly string[] {
  const grants = granted.map(parseGrant)
  return needed
    .map(parseGrant)
    .flatMap(({ rights, target }) =>
      rights
        .filter((right) => !isGranted(right, target, grants))
        .map(({ name }) => `${name} ON ${target}`),
    )
}

const isGranted = (right: Right, target: string, grants: readonly Grant[]): boolean =>
  grants.some(
    (grant) => covers(grant.target, target) && grant.rights.some((one) => includes(one, right)),
  )

/** Whether a grant on `granted` is one on `needed`; a star stands for any rest. */
function covers(granted: string, needed: string): boolean {
  if (granted === needed || granted === '*.*' || granted === '*') return true
  return granted.endsWith('*') && needed.startsWith(granted.slice(0, -1))
}

/** Whether a right includes another: ALL includes each, and CREATE includes CREATE TABLE. */
function includes(granted: Right, needed: Right): boolean {
  const isSame =
    granted.name === 'ALL' ||
    granted.name === needed.name ||
    needed.name.startsWith(`${granted.name} `)
  if (!isSame || granted.columns.length === 0) return isSame
  return needed.columns.length > 0 && needed.columns.every((one) => granted.columns.includes(one))
}
