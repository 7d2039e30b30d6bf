/** Short names for the types generated from the contract of management, which only this file imports, and the form of its names. */
import type { components } from '../../generated/management.js'

type Schemas = components['schemas']

export type ManagedProject = Schemas['ManagedProject']
export type NewProject = Schemas['NewProject']
export type ProjectSettings = Schemas['ProjectSettings']
export type ProjectChanges = Schemas['ProjectChanges']
export type ProjectPage = Schemas['ProjectPage']
export type Rotation = Schemas['Rotation']
export type Key = Schemas['Key']
export type KeyList = Schemas['KeyList']
export type NewKey = Schemas['NewKey']
export type IssuedKey = Schemas['IssuedKey']
export type UserIds = Schemas['UserIds']
/** What takes longer than a request. */
export type Operation = Schemas['Operation']
export type DeletionResult = Schemas['DeletionResult']
/** How far an import is. */
export type ImportProgress = Schemas['ImportProgress']
/** What an import has done. */
export type ImportResult = Schemas['ImportResult']
export type ImportPage = Schemas['ImportPage']
export type Note = Schemas['Note']
export type NewNote = Schemas['NewNote']
export type NoteList = Schemas['NoteList']
export type GoalList = Schemas['GoalList']
export type SegmentList = Schemas['SegmentList']
/** What a goal is. A segment has no value. */
export type GoalSettings = Schemas['GoalSettings']
/** What names of goals and segments are made of. */
export const DEFINITION_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/
/** An entry of the audit log. */
export type Change = Schemas['Change']
export type ChangePage = Schemas['ChangePage']
export type ErrorCode = Schemas['ErrorCode']
export type UsagePage = Schemas['UsagePage']
/** How a project is doing. */
export type ProjectStatus = Schemas['ProjectStatus']
