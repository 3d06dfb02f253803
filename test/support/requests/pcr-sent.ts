// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '../../../src/api/request/pod-certificate-request.ts';
import { openEnvelope } from '../../../src/protobuf/envelope.ts';
import { readPodCertificateRequest } from '../../../src/api/request/pod-certificate-request-message.ts';

/** Field 2, the spec, which a write of the status leaves out and every reader wants: empty. */
const EMPTY_SPEC = Uint8Array.of(0x12, 0);

/** The body of a write of a PodCertificateRequest's status, without a spec as it is sent. */
export function readSent(body: unknown): PodCertificateRequest {
  const { type, raw } = openEnvelope(body as Uint8Array);
  const { spec: _spec, ...sent } = readPodCertificateRequest(
    type,
    Buffer.concat([raw, EMPTY_SPEC]),
  );
  return sent as PodCertificateRequest;
}
