// SPDX-License-Identifier: Apache-2.0
/** Exports of the folder. README.md lists the files behind them. */
export { openAccountKey, keyAuthorization, dns01Value } from './account-key.ts';
export { createAccount, findAccount, changeContact, rollOver } from './accounts.ts';
export { downloadChain, downloadPreferredChain, revokeCertificate } from './certificates.ts';
export {
  newOrder,
  getOrder,
  getAuthorization,
  deactivateAuthorization,
  acceptChallenge,
  finalizeOrder,
} from './orders.ts';
export { renewalId, getRenewalWindow } from './renewal-info.ts';
export { openServer } from './server.ts';
