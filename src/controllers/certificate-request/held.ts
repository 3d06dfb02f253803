// SPDX-License-Identifier: Apache-2.0
import { withFailed, type CertificateRequest } from '../../api/request/certificate-request.ts';
import {
  afterHeld as after,
  type AfterHeld,
  type Times,
} from '../../runtime/issuing/after-held.ts';
import type { Held } from '../../runtime/issuing/issuing.ts';

/** What becomes of a CertificateRequest that a CA gave no certificate for. */
export function afterHeld(
  request: CertificateRequest,
  held: Held,
  times: Times,
): AfterHeld<CertificateRequest> {
  return after(request, held, times, {
    withFailed,
    dated: (time) => ({ lastTransitionTime: time }),
  });
}
