// SPDX-License-Identifier: Apache-2.0
/** The door of the room: what its users import. README.md lists the files behind it. */
export { createAcmeRequests } from './loops.ts';
