// SPDX-License-Identifier: Apache-2.0
/** Exports of the folder. README.md lists the files behind them. */
export { acceptChain } from './accepted-chain.ts';
export { acceptTheChallenge, presentedValue, readChallenge } from './challenge-calls.ts';
export { askRenewal, giveUpAuthorization, revokeIssued } from './issued-calls.ts';
export { takeOrderStep } from './order-calls.ts';
export { openAccount, problemOfSettings } from './session.ts';
