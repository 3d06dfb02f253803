// SPDX-License-Identifier: Apache-2.0
import { judgeAll, type Kind, type Result } from '../conformance/case.ts';
import { CSR_CASES } from '../conformance/csr/cases/index.ts';
import { CR_CASES } from '../conformance/certificaterequest/cases/index.ts';
import { CTB_CASES } from '../conformance/ctb/cases/index.ts';
import { PCR_CASES } from '../conformance/pcr/cases/index.ts';
import { observeCertificateRequests } from './certificaterequest/observe.ts';
import { observeCsr } from './csr/observe.ts';
import { observePcr } from './pcr/observe.ts';
import { observeCtb } from './ctb/observe.ts';
import type { Kit } from './run.ts';

/** Observes the signer, and judges what was seen. @throws KubeError when nothing can be asked */
export const OBSERVE: Readonly<Record<Kind, (kit: Kit) => Promise<readonly Result[]>>> = {
  csr: async (kit) => judgeAll(CSR_CASES, await observeCsr(kit)),
  ctb: async (kit) => judgeAll(CTB_CASES, await observeCtb(kit)),
  certificaterequest: async (kit) => judgeAll(CR_CASES, await observeCertificateRequests(kit)),
  pcr: async (kit) => judgeAll(PCR_CASES, await observePcr(kit)),
};
