// SPDX-License-Identifier: Apache-2.0
/** The door of the room: what its users import. README.md lists the files behind it. */
export { openCheckpoint, signCheckpoint } from './log/checkpoint.ts';
export { openLogList, signLogList } from './log/list.ts';
export { includes, isConsistent, leafHash, sha256 } from './log/merkle.ts';
export { formatVerifierKey, noteSigner, parseVerifierKey } from './log/note.ts';
export { consistencyPath, formatProof, inclusionPath } from './log/prove.ts';
export {
  ENTRIES_LEVEL,
  foldedHash,
  grownTiles,
  parseTilePath,
  rangeHash,
  servedTile,
  tilePath,
} from './log/tiles.ts';
