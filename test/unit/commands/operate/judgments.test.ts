/** What `tallyhouse doctor` makes of the facts that it reads. */
import { expect, test } from '@jest/globals'
import type { StoredPublicKey } from '../../../../src/auth/public-keys.js'
import type { LeaseStatus } from '../../../../src/clickhouse/lease/lease-status.js'
import * as judge from '../../../../src/commands/operate/judgments.js'
import type { Finding } from '../../../../src/commands/operate/judgments.js'
import * as work from '../../../../src/commands/operate/work-judgments.js'
import { takeBatch } from '../../../../src/ingest/loader/load-source.js'

const NOW = new Date('2026-03-10T12:00:00.000Z')
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const FREE: LeaseStatus = { state: 'free' }
const HELD: LeaseStatus = { state: 'held', holder: 'process 7 on web1', silence: 900 }
const NEW_HELD: LeaseStatus = { ...HELD, holder: undefined }
const EXPIRED: LeaseStatus = { state: 'expired', holder: 'process 7 on web1', silence: 61_000 }

const key = (kid: string, retiresAt: Date | null = null): StoredPublicKey => ({
  jwk: { kty: 'OKP', crv: 'Ed25519', x: 'x', kid },
  addedAt: NOW,
  retiresAt,
})
const load = (number: number, step: 1 | 2) => ({ number, ...takeBatch('b'), step, slices: 1 })
const disk = (free: number) => ({ name: 'default', free: free * 1e9, total: 200e9 })
const folder = { path: '/data', hasStore: true }
const keysOf = (keys: readonly StoredPublicKey[], signing?: string) =>
  judge.judgePublicKeys({ keys, signing, role: 'all', now: NOW })
const migrations = { isSetUp: true, missing: [], isRestoreUnfinished: false }
const START =
  'start "tallyhouse serve"; if it runs, its log says why: search for "events cannot be loaded"'

const LEFT_OVER =
  'start "tallyhouse serve", which drops those of loads and rebuilds, and drop the others with DROP TABLE'

const TABLE: readonly (readonly [Finding, Finding['verdict'], string, string?])[] = [
  [judge.judgeDataFolder({ ...folder, state: 'writable' }), 'ok', '/data is writable'],
  [
    judge.judgeDataFolder({ ...folder, state: 'absent' }),
    'ok',
    '/data does not exist yet, and can be created',
  ],
  ...([true, false] as const).map((hasStore): [Finding, Finding['verdict'], string, string] => [
    judge.judgeDataFolder({ ...folder, hasStore, state: 'read-only' }),
    hasStore ? 'fail' : 'warn',
    '/data cannot be written to',
    'give the user of the service the right to write to DATA_DIR, or set another one',
  ]),
  [
    judge.judgeSigningKey({ kid: undefined, mode: 0 }),
    'ok',
    'none here: API keys are not issued on this host',
  ],
  [judge.judgeSigningKey({ kid: 'k1', mode: 0o100600 }), 'ok', 'this host signs with k1'],
  [
    judge.judgeSigningKey({ kid: 'k1', mode: 0o100640 }),
    'warn',
    'other users of this host may use the file of the key k1',
    'run "chmod 600" on DATA_DIR/keys/signing-key.json',
  ],
  [keysOf([key('k1', NOW), key('k2')], 'k2'), 'ok', '1 of 2 valid'],
  [
    keysOf([key('k1', NOW), key('k2')], 'k1'),
    'warn',
    'the signing key of this host, k1, is retired',
    'run "tallyhouse key rotate" before you issue an API key here',
  ],
  [
    keysOf([key('k1', NOW)]),
    'fail',
    'none is valid, so every API key is refused',
    'issue an API key with "tallyhouse key issue", after "tallyhouse key rotate" if the signing key is retired',
  ],
  [
    judge.judgePublicKeys({ keys: [], signing: undefined, role: 'collector', now: NOW }),
    'ok',
    'none is valid, and a collector needs none',
  ],
  [
    judge.judgeServer({ name: 'n', verdict: 'fit', fault: undefined, advice: undefined }),
    'ok',
    'as needed',
  ],
  [judge.judgeServer({ name: 'n', verdict: 'warn', fault: 'f', advice: 'a' }), 'warn', 'f', 'a'],
  [judge.judgeServer({ name: 'n', verdict: 'refuse', fault: 'f', advice: 'a' }), 'fail', 'f', 'a'],
  [
    judge.judgeRights({ username: 'reader', missing: [] }),
    'ok',
    'reader has the rights that it needs',
  ],
  [
    judge.judgeRights({ username: 'reader', missing: ['SELECT ON a.b', 'SELECT ON a.c'] }),
    'fail',
    'reader lacks SELECT ON a.b, SELECT ON a.c',
    'grant what clickhouse/config/users.xml grants to this account',
  ],
  [judge.judgeClock(-2_000), 'ok', 'this host and the store agree'],
  [
    judge.judgeClock(5_000),
    'warn',
    'this host is 5 seconds ahead of the store',
    'synchronize the clocks of both hosts, with NTP for instance',
  ],
  [
    judge.judgeClock(-90_000),
    'fail',
    'this host is 90 seconds behind the store',
    'synchronize the clocks of both hosts, with NTP for instance',
  ],
  [
    judge.judgeDisks({ disks: [disk(100), disk(150)], stored: 10e9 }),
    'ok',
    '100.0 GB of 200.0 GB free on default, 150.0 GB of 200.0 GB free on default; the database takes 10.0 GB',
  ],
  ...(
    [
      [100, 210, 'warn'],
      [4, 1, 'warn'],
      [0.9, 0.1, 'fail'],
    ] as const
  ).map(([free, stored, verdict]): [Finding, Finding['verdict'], string, string] => [
    judge.judgeDisks({ disks: [disk(free)], stored: stored * 1e9 }),
    verdict,
    `${free.toFixed(1)} GB of 200.0 GB free on default; the database takes ${stored.toFixed(1)} GB`,
    'free some room, or add a larger disk: keep free at least half of what the database takes',
  ]),
  [judge.judgeMigrations(migrations), 'ok', 'all are applied'],
  [
    judge.judgeMigrations({ ...migrations, missing: ['0009_a.sql', '0010_b.sql'] }),
    'fail',
    'the database lacks 0009_a.sql, 0010_b.sql',
    'run "tallyhouse migrate"',
  ],
  [
    judge.judgeMigrations({ ...migrations, isSetUp: false }),
    'fail',
    'the database is not set up yet',
    'run "tallyhouse migrate"',
  ],
  [
    judge.judgeMigrations({ ...migrations, isRestoreUnfinished: true }),
    'fail',
    'a restore of this database did not end',
    'drop the database, or remove DATA_DIR/clickhouse, then restore again',
  ],
  [
    judge.judgeMigrations({ unknown: 'migration 0099_x.sql: it was applied' }),
    'fail',
    'migration 0099_x.sql: it was applied',
    'run a version that knows these migrations, or restore a backup',
  ],
  [work.judgeLease(FREE), 'ok', 'nobody holds its lease: no load is running'],
  [work.judgeLease(HELD), 'ok', 'process 7 on web1 holds its lease'],
  [work.judgeLease(NEW_HELD), 'ok', 'a process holds its lease'],
  [
    work.judgeLease(EXPIRED),
    'warn',
    'process 7 on web1 held its lease, and has been silent for 61 seconds',
    'check that this process still runs; the next one that loads takes the lease over',
  ],
  [work.judgeInbox({ rows: 0, oldestMs: 0 }, FREE), 'ok', 'no event waits to be loaded'],
  [
    work.judgeInbox({ rows: 1, oldestMs: MINUTE }, FREE),
    'ok',
    '1 event waiting, the oldest for 60 seconds',
  ],
  [
    work.judgeInbox({ rows: 2, oldestMs: MINUTE + 1 }, FREE),
    'fail',
    '2 events waiting, the oldest for 60 seconds',
    START,
  ],
  [
    work.judgeInbox({ rows: 2, oldestMs: 2 * MINUTE }, EXPIRED),
    'fail',
    '2 events waiting, the oldest for 120 seconds',
    START,
  ],
  [
    work.judgeInbox({ rows: 2_000, oldestMs: 2 * MINUTE }, HELD),
    'warn',
    '2,000 events waiting, the oldest for 120 seconds',
    'wait for process 7 on web1, which is loading, importing or rebuilding',
  ],
  [
    work.judgeInbox({ rows: 2, oldestMs: 11 * MINUTE }, HELD),
    'fail',
    '2 events waiting, the oldest for 660 seconds',
    START,
  ],
  [work.judgeLoads([], FREE), 'ok', 'every load has ended'],
  [work.judgeLoads([load(4, 2)], HELD), 'ok', 'load 4 is staged: process 7 on web1 is at work'],
  [
    work.judgeLoads([load(4, 2), load(5, 1)], FREE),
    'fail',
    'load 4 is staged, load 5 has begun and nobody goes on with it',
    START,
  ],
  [
    work.judgeRollups({ state: 'current', monthsDone: 3, lease: FREE }),
    'ok',
    "complete, under this version's definition",
  ],
  [
    work.judgeRollups({ state: 'newer', monthsDone: 0, lease: HELD }),
    'fail',
    'a newer version has built them',
    'run that version of Tallyhouse or a later one',
  ],
  [
    work.judgeRollups({ state: 'other', monthsDone: 3, lease: HELD }),
    'warn',
    'process 7 on web1 rebuilds them, 3 months done; queries read the events',
    'wait for it to end',
  ],
  [
    work.judgeRollups({ state: 'other', monthsDone: 1, lease: EXPIRED }),
    'fail',
    'they are out of date, 1 month done; queries read the events',
    'start the service, which builds them, or run "tallyhouse migrate"',
  ],
  [
    work.judgeRollups({ state: 'building', monthsDone: 0, lease: FREE }),
    'fail',
    'they are incomplete, 0 months done; queries read the events',
    'start the service, which builds them, or run "tallyhouse migrate"',
  ],
  [
    work.judgeTables({ leased: [], shadow: [], renewed: [], lease: FREE, rollupsLease: FREE }),
    'ok',
    '0 tables in use, none left over',
  ],
  [
    work.judgeTables({
      leased: [{ name: 'load_7_rows', age: 10 }],
      shadow: [],
      renewed: [{ name: 'trial_a_rows', age: DAY }],
      lease: HELD,
      rollupsLease: FREE,
    }),
    'ok',
    '2 tables in use, none left over',
  ],
  [
    work.judgeTables({
      leased: [],
      shadow: [{ name: 'draft_7_users_daily', age: 10 }],
      renewed: [],
      lease: FREE,
      rollupsLease: HELD,
    }),
    'ok',
    '1 table in use, none left over',
  ],
  [
    work.judgeTables({
      leased: [],
      shadow: [{ name: 'draft_7_users_daily', age: 10 }],
      renewed: [],
      lease: HELD,
      rollupsLease: FREE,
    }),
    'warn',
    'nobody uses draft_7_users_daily',
    LEFT_OVER,
  ],
  ...([FREE, EXPIRED] as const).map((lease): [Finding, Finding['verdict'], string, string] => [
    work.judgeTables({
      leased: [1, 2, 3, 4, 5].map((n) => ({ name: `load_${n}_rows`, age: 10 })),
      shadow: [],
      renewed: [
        { name: 'trial_a_rows', age: 10 },
        { name: 'staged_b', age: DAY + 1 },
      ],
      lease,
      rollupsLease: HELD,
    }),
    'warn',
    'nobody uses load_1_rows, load_2_rows, load_3_rows, load_4_rows, load_5_rows and 1 more',
    LEFT_OVER,
  ]),
]

test.each(TABLE.map(([given, ...want]) => ({ given, want })))(
  '$want',
  ({ given, want: [verdict, finding, advice = null] }) => {
    expect(given).toEqual({ verdict, finding, advice })
  },
)
