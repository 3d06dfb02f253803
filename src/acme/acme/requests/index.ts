// SPDX-License-Identifier: Apache-2.0
/** Exports of the folder. README.md lists the files behind them. */
export { createAcmeRequests } from './loops.ts';
