// SPDX-License-Identifier: Apache-2.0
import {
  CR_SCENES,
  readIssuerRef,
  type CrScene,
  type CrWorld,
} from '../../conformance/certificaterequest/snapshot.ts';
import type { CertificateRequest } from '../../api/request/certificate-request.ts';
import {
  isSkipped,
  lastOf,
  type Scene,
  type Skipped,
  type Trial,
} from '../../conformance/observed-request.ts';
import type { Anchors } from '../../conformance/snapshot.ts';
import { SignerError, attempt } from '../../errors.ts';
import { servedVersions } from '../../kube/client/discovery.ts';
import { readAnchors } from '../../pki/x509/trust-bundle.ts';
import { whoami } from '../csr/client-authentication.ts';
import { inParallel } from '../in-parallel.ts';
import type { Kit } from '../run.ts';
import { RUN_LABEL } from '../created-objects.ts';
import { record } from '../recorder.ts';
import { crPlans } from './plans.ts';
import { CERTIFICATE_REQUESTS, makeRequest, mayRequest, type Made } from './requests.ts';

/** Observes an issuer of cert-manager's CertificateRequests. @throws KubeError or SignerError */
export async function observeCertificateRequests(kit: Kit): Promise<CrWorld> {
  const issuerRef = readIssuerRef(kit.signerName);
  if (issuerRef === undefined) {
    throw new SignerError({
      code: 'USAGE',
      disposition: 'fail',
      message: `--signer ${kit.signerName}: of certificaterequest write <Kind>.<group>/<name>, such as ClusterSigner.countersign.dev/workload`,
    });
  }
  const served = await servedVersions(kit.client, CERTIFICATE_REQUESTS, [
    CERTIFICATE_REQUESTS.version,
  ]);
  if (served.length === 0) {
    return worldOf(kit, { skipped: 'the API server has no certificaterequests.cert-manager.io' });
  }
  const { namespace } = kit;
  const mayWatch = (await kit.rights.lacking(mayRequest(kit, ['list', 'watch']))) === undefined;
  const labelSelector = `${RUN_LABEL}=${kit.run}`;
  const recorder = await record<CertificateRequest>(kit, {
    resource: CERTIFICATE_REQUESTS,
    namespace,
    labelSelector,
    mayWatch,
  });
  const begun = kit.clock();
  try {
    const user = await whoami(kit.client);
    const plans = await crPlans(kit, issuerRef, user.username);
    kit.say(`making ${plans.length} requests`);
    const single = plans.filter(({ scene }) => scene !== 'burst');
    const burst = plans.filter(({ scene }) => scene === 'burst');
    const requester = { kit, recorder, user };
    const made = await inParallel(single, (plan) => makeRequest(requester, plan));
    const atOnce = await Promise.all(burst.map((plan) => makeRequest(requester, plan)));
    await kit.delay(Math.max(0, begun + kit.quietMs - kit.clock()), kit.signal);
    return worldOf(kit, [...made, ...atOnce]);
  } finally {
    await recorder.stop();
  }
}

function worldOf(kit: Kit, made: readonly Made[] | Skipped): CrWorld {
  const reason = 'skipped' in made ? made.skipped : 'the kit has no such request';
  const trials =
    'skipped' in made ? [] : made.map(({ plan, trial }) => [plan.scene, trial()] as const);
  const byScene = new Map<string, Scene>(trials);
  const scenes = Object.fromEntries(
    CR_SCENES.map((name) => [name, byScene.get(name) ?? { skipped: reason }]),
  ) as Readonly<Record<CrScene, Scene>>;
  const burst = trials.filter(([scene]) => scene === 'burst').map(([, trial]) => trial);
  const { signerName, profile } = kit;
  return {
    signerName,
    profile,
    scenes,
    burst: burst.find((each): each is Skipped => isSkipped(each)) ?? burstOf(burst, reason),
    anchors: anchorsOf(kit),
    ownAnchor: ownAnchor(scenes.plain),
    operations: {},
  };
}

function burstOf(burst: readonly Scene[], reason: string): readonly Trial[] | Skipped {
  const trials = burst.filter((each): each is Trial => !isSkipped(each));
  return trials.length === 0 ? { skipped: reason } : trials;
}

function anchorsOf({ anchors }: Kit): Anchors | Skipped {
  if (anchors === undefined) return { skipped: '--anchors names no file' };
  return readOf(anchors.pem, anchors.from);
}

/** What the issuer itself says is its CA. */
function ownAnchor(plain: Scene): Anchors | Skipped {
  const ca = isSkipped(plain) ? '' : (lastOf(plain)?.ca ?? '');
  return ca === '' ? { skipped: 'status.ca is not set: best effort' } : readOf(ca, 'status.ca');
}

function readOf(pem: string, from: string): Anchors | Skipped {
  const certificates = attempt(() => readAnchors(pem));
  if (certificates instanceof SignerError) return { skipped: `${from}: ${certificates.message}` };
  return { certificates, from };
}
