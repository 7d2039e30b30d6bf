/** Backups of what cannot be backed up. */
import { expect, test } from '@jest/globals'
import { restoreStores } from '../../../src/bootstrap/backups.js'
import { readConfig } from '../../../src/config/config.js'
import { packagePath } from '../../../src/lib/package-path.js'

test('a shard with replicas is not restored', async () => {
  const config = readConfig({ CLUSTER: packagePath('clickhouse/config/ha/cluster.yaml') })
  await expect(restoreStores(config, '/backups/monday')).rejects.toThrow(
    'a shard with replicas cannot be backed up or restored by this command',
  )
})
