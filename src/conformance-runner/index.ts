// SPDX-License-Identifier: Apache-2.0
import { evaluateAll, type Kind, type CaseResult } from '../conformance/case.ts';
import { CSR_CASES } from '../conformance/csr/cases/index.ts';
import { CR_CASES } from '../conformance/certificaterequest/cases/index.ts';
import { CTB_CASES } from '../conformance/ctb/cases/index.ts';
import { PCR_CASES } from '../conformance/pcr/cases/index.ts';
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
