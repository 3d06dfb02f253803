// SPDX-License-Identifier: Apache-2.0
import { withFailed, type CertificateSigningRequest } from '../../api/request/csr.ts';
import {
  afterHeld as after,
  type AfterHeld,
  type Times,
} from '../../runtime/issuing/after-held.ts';
import type { Held } from '../../runtime/issuing/issuing.ts';

/** What becomes of a CertificateSigningRequest that a CA gave no certificate for. */
export function afterHeld(
  csr: CertificateSigningRequest,
  held: Held,
  times: Times,
): AfterHeld<CertificateSigningRequest> {
  return after(csr, held, times, {
    withFailed,
    dated: (time) => ({ lastTransitionTime: time, lastUpdateTime: time }),
  });
}
