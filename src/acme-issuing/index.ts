// SPDX-License-Identifier: Apache-2.0
/** The door of the room: what its users import. README.md lists the files behind it. */
export { acceptChain } from './accepted-chain.ts';
export { acceptTheChallenge, presentedValue, readChallenge } from './challenge-calls.ts';
export { askRenewal, giveUpAuthorization, revokeIssued } from './issued-calls.ts';
export { takeOrderStep } from './order-calls.ts';
export { openAccount, problemOfSettings } from './session.ts';
