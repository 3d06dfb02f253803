// SPDX-License-Identifier: Apache-2.0
import { evaluateAll, type Kind, type CaseResult } from '../case.ts';
import { CSR_CASES } from '../csr/cases.ts';
import { CR_CASES } from '../certificaterequest/cases.ts';
import { CTB_CASES } from '../ctb/cases.ts';
import { PCR_CASES } from '../pcr/cases.ts';
import { observeCertificateRequests } from './certificaterequest/observe.ts';
import { observeCsr } from './csr/observe.ts';
import { observePcr } from './pcr/observe.ts';
import { observeCtb } from './ctb/observe.ts';
import type { Run } from './run.ts';

/**
 * Runs every scenario of a kind against the signer and evaluates the cases of that kind. @throws
 * KubeError when no call succeeds
 */
export const EVALUATE: Readonly<Record<Kind, (run: Run) => Promise<readonly CaseResult[]>>> = {
  csr: async (run) => evaluateAll(CSR_CASES, await observeCsr(run)),
  ctb: async (run) => evaluateAll(CTB_CASES, await observeCtb(run)),
  certificaterequest: async (run) => evaluateAll(CR_CASES, await observeCertificateRequests(run)),
  pcr: async (run) => evaluateAll(PCR_CASES, await observePcr(run)),
};
