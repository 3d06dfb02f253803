// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { Run } from '../run.ts';
import type { Recorder } from '../recorder.ts';

/** What every probe of PodCertificateRequests works with. */
export interface PcrRun {
  readonly run: Run;
  readonly requests: Resource;
  readonly recorder: Recorder<PodCertificateRequest>;
}
