// SPDX-License-Identifier: Apache-2.0
/** Exports of the folder. README.md lists the files behind them. */
export { createDnsClient } from './dns/client.ts';
export { CHECK_LIMITS, createSelfCheck } from './self-check.ts';
export type { SelfCheck, SelfCheckInit, ToCheck } from './self-check.ts';
export type { ChallengeSolver, ChallengeToSolve, SolverContext, SolverOutcome } from './solver.ts';
export { mayProveByHttp, parseHttp01Grant } from './http/grants.ts';
export type { Http01Grant } from './http/grants.ts';
