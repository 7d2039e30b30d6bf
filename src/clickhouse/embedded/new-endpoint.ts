/** Invents the address and the accounts of an engine that is about to start. */
import { randomBytes } from 'node:crypto'
import type { Account, Credentials, Endpoint } from '../endpoint.js'
import { choosePort } from './port.js'

const DATABASE = 'tallyhouse'

/** A new endpoint on this machine; its passwords are as long as the engine lives, and never reused. */
export async function newEndpoint(): Promise<Endpoint> {
  const account = (username: Account): Credentials => ({
    username,
    password: randomBytes(24).toString('base64url'),
  })
  return {
    url: `http://127.0.0.1:${await choosePort()}`,
    database: DATABASE,
    accounts: { admin: account('admin'), writer: account('writer'), reader: account('reader') },
  }
}
