// SPDX-License-Identifier: Apache-2.0
/** Checks of the cluster itself. Pure: facts in, outcomes out. */
import { MIN_KUBELET, knowsPodCertificates, minorOf } from '#api/object/node.ts';
import { permissionText, type MissingPermission } from '#kube/client/access-review.ts';
import { MAX_CLOCK_OFFSET_MS, offsetText } from '#component/server-time.ts';
import { shellWord } from '#base/quote.ts';
import type { KubernetesFacts, Kubelet, LedgerFacts, StorageClass, Webhook } from './facts.ts';
import { allWell, error, ok, warning, whereSeen, type Outcome } from './finding.ts';

/** The oldest minor version that the components run on. */
const MIN_SERVER = 36;

/**
 * Clock offset from which a warning is due. Certificates are backdated by less, so a clock that is
 * further off finds new ones "not yet valid".
 */
export const NOTICED_OFFSET_MS = 30_000;

/** `api-server-version` */
export function checkServerVersion({ version: seen }: KubernetesFacts): readonly Outcome[] {
  return whereSeen(seen, (version) => {
    const minor = minorOf(version);
    if (minor !== undefined && minor >= MIN_SERVER) return [ok(`the API server is ${version}`)];
    const why = `the API server is ${version}; Countersign runs on 1.${MIN_SERVER} and later`;
    return [error(why, 'upgrade the cluster')];
  });
}

/** `pod-certificates-served` */
export function checkPodCertificates({ served: seen }: KubernetesFacts): readonly Outcome[] {
  return whereSeen(seen, (served) => {
    const missing = Object.entries(served).flatMap(([plural, versions]) =>
      versions.length === 0 ? [plural] : [],
    );
    if (missing.length > 0) {
      return [
        error(
          `the API server serves no ${missing.join(' and no ')}, so pods get no certificates`,
          'use Kubernetes 1.37, or switch the beta on in 1.36: countersign check --explain pod-certificates-served',
        ),
      ];
    }
    const [version = ''] = served.podcertificaterequests;
    return [ok(`PodCertificateRequests and ClusterTrustBundles are served (${version})`)];
  });
}

/** `clock-offset` */
export function checkClock({ clockOffset }: KubernetesFacts): readonly Outcome[] {
  const apart = Math.abs(clockOffset);
  const text = offsetText(clockOffset);
  if (apart > MAX_CLOCK_OFFSET_MS) return [error(text, 'correct the clock that is wrong')];
  if (apart > NOTICED_OFFSET_MS) return [warning(text, 'correct the clock that is wrong')];
  return [ok('this machine and the API server agree on the time')];
}

/** `kubelet-versions` */
export function checkKubelets({ kubelets }: KubernetesFacts): readonly Outcome[] {
  return whereSeen(kubelets, (all) => {
    // A cordoned node gets no new pod that would wait for a certificate.
    const old = all.filter(
      ({ version, isCordoned }) => !knowsPodCertificates(version) && isCordoned !== true,
    );
    return allWell(
      old.map(olderKubelet),
      all.length === 0
        ? 'there are no nodes'
        : `all ${all.length} kubelets are 1.${MIN_KUBELET} or later`,
    );
  });
}

function olderKubelet({ node, version }: Kubelet): Outcome {
  return warning(
    `the kubelet is ${version}; it does not know podCertificate volumes`,
    `upgrade the node, or keep new pods away from it: kubectl cordon ${shellWord(node)}`,
    `node/${node}`,
  );
}

/** `foreign-webhooks` */
export function checkWebhooks({ webhooks }: KubernetesFacts): readonly Outcome[] {
  return whereSeen(webhooks, (all) =>
    allWell(
      all.filter(mayBlock).map(closedWebhook),
      'no admission webhook fails closed before requests for certificates',
    ),
  );
}

function closedWebhook({ configuration, name, service, served, rules }: Webhook): Outcome {
  const [kind = '', object = ''] = configuration.split('/');
  const remediation =
    'exclude certificates.k8s.io, coordination.k8s.io and countersign.dev from its rules';
  const edit = `kubectl edit ${kind} ${shellWord(object)}`;
  const rejects = `the API server rejects writes of ${neededResources(rules).join(', ')}`;
  if (served === false) {
    const why = `webhook ${name} fails closed, and its Service ${service ?? ''} has no ready endpoint: ${rejects}`;
    const fix = `bring its server back, or ${remediation}; where neither can be done now, set failurePolicy: Ignore of this webhook until its server is back: ${edit}`;
    return error(why, fix, configuration);
  }
  return warning(
    `webhook ${name} fails closed: while its server is away, ${rejects}`,
    `${remediation}: ${edit}`,
    configuration,
  );
}

const NEEDED_GROUPS = ['certificates.k8s.io', 'coordination.k8s.io', 'countersign.dev', '*'];
const NEEDED_RESOURCES = [
  'certificatesigningrequests',
  'podcertificaterequests',
  'clustertrustbundles',
  'leases',
  'clustersigners',
  'signers',
  '*',
];

/**
 * Reports whether a webhook may block requests that Countersign needs. A resource may carry a
 * subresource, such as `pods/*`, and a star may stand for both.
 */
export function mayBlock({ failurePolicy = 'Fail', rules = [] }: Webhook): boolean {
  return failurePolicy === 'Fail' && neededResources(rules).length > 0;
}

/** Returns the resources of the rules that Countersign needs, each once. */
function neededResources(rules: Webhook['rules'] = []): readonly string[] {
  const needed = rules.flatMap(({ apiGroups = [], resources = [] }) =>
    apiGroups.some((group) => NEEDED_GROUPS.includes(group))
      ? resources
          .filter((each) => NEEDED_RESOURCES.includes(each.split('/')[0] ?? ''))
          .map((each) =>
            each.startsWith('*') ? `all resources of ${groupsText(apiGroups)}` : each,
          )
      : [],
  );
  return [...new Set(needed)];
}

function groupsText(groups: readonly string[]): string {
  return groups.includes('*') ? 'all groups' : groups.map((each) => each || 'core').join(', ');
}

/** `ledger-possible` */
export function checkLedgerNeeds({ storageClasses }: LedgerFacts): readonly Outcome[] {
  return whereSeen(storageClasses, (classes) =>
    allWell(
      classes.some(({ isDefault }) => isDefault) ? [] : [noDefaultClass(classes)],
      'the ledger has a default StorageClass',
    ),
  );
}

function noDefaultClass(classes: readonly StorageClass[]): Outcome {
  const names = classes.map(({ name }) => name).join(', ');
  const why = 'no StorageClass is the default: the volume of the ledger stays Pending';
  return warning(
    names === '' ? `${why}; the cluster has none` : why,
    names === ''
      ? 'install a provisioner of volumes, or set ledger.postgres.secret, before you enable the ledger'
      : `set ledger.storage.className to one of ${names} before you enable the ledger`,
  );
}

/**
 * `may-install`
 *
 * @param missing - the permissions that an installation requires and the user lacks
 */
export function checkInstallRights(missing: readonly MissingPermission[]): readonly Outcome[] {
  return allWell(
    missing.map((each) =>
      error(
        `you may not ${permissionText(each)}`,
        'install as a cluster administrator, or have this granted',
      ),
    ),
    'you may install Countersign',
  );
}
