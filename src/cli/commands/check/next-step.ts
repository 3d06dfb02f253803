// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { podCertificateSigners, type Pod } from '#api/object/pod.ts';
import type { CheckReport } from '#diagnose/check/report.ts';
import type { PodFacts } from '#diagnose/check/facts.ts';
import type { ReadResult } from '#diagnose/check/finding.ts';
import type { Facts } from '#diagnose/check/run-checks.ts';
import { shellWord } from '#base/quote.ts';

/** Command that repeats the check after a change. */
const AGAIN = 'countersign check --wait 2m';

/** The ways to install, of which the user runs one. */
const INSTALL = `Next: install by one of these, then ${AGAIN}
  countersign install --values values.yaml
  helm install countersign deploy/chart --values values.yaml
  kubectl apply -k .                                            for the names of the examples
  the operator, from one object                                 docs/how-to/operator.md
`;

const FIRST_SIGNER = `Next: a ClusterSigner of your own, such as one of these, then ${AGAIN}
  kubectl apply -f deploy/examples/workload.yaml                for pods
  kubectl apply -f deploy/examples/people.yaml                  for people, with a CA that the API server trusts
`;

const EXAMPLE = 'example.com/workload';
/** The username that the API server knows, which is the common name that users may request. */
const OWN_NAME = '"$(kubectl auth whoami -o jsonpath={.status.userInfo.username})"';

/**
 * Returns the next commands after a successful check: the ways to install, a first signer, or a
 * first certificate of the existing signers. If a pod has one already, a command that shows it.
 *
 * @param servingSigner - signer name of the components' own ports, which users cannot request
 * @returns lines that a shell takes as they are, or '' after a failed check, whose own lines have
 * the remedy
 */
export function nextStep(facts: Facts, report: CheckReport, servingSigner: string): string {
  if (report.result === 'error') return '';
  const { installed } = facts;
  if (installed === undefined) return INSTALL;
  const show = '  countersign authority show\n';
  if ('lacks' in installed.signers) return `Next:\n${show}`;
  const own = installed.signers.value.states
    .map(({ signer }) => signer)
    .filter(({ spec }) => spec.signerName !== servingSigner);
  if (own.length === 0) return FIRST_SIGNER;
  return ['Next:\n', show, forPods(own, installed.pods), forPeople(own)].join('');
}

function forPods(signers: readonly ClusterSigner[], pods: ReadResult<PodFacts>): string {
  const holder = 'value' in pods ? holderOf(signers, pods.value.mounting) : undefined;
  if (holder !== undefined) {
    const { name, namespace = '' } = holder.metadata;
    return `  countersign inspect pod/${name} -n ${namespace}\n`;
  }
  const signerName = signers.find(({ spec }) => spec.pods !== undefined)?.spec.signerName;
  if (signerName === undefined) return '';
  if (signerName === EXAMPLE) return '  kubectl apply -f deploy/examples/pod.yaml\n';
  return `  sed s,${EXAMPLE},${shellWord(signerName)}, deploy/examples/pod.yaml | kubectl apply -f -\n`;
}

/** Returns a pod with a certificate: a pod runs only after the kubelet has mounted its volumes. */
function holderOf(signers: readonly ClusterSigner[], mounting: readonly Pod[]): Pod | undefined {
  const names = new Set(signers.map(({ spec }) => spec.signerName));
  return mounting.find(
    (pod) =>
      pod.status?.phase === 'Running' &&
      [...podCertificateSigners(pod)].some((each) => names.has(each)),
  );
}

function forPeople(signers: readonly ClusterSigner[]): string {
  // Without rules a person decides, and the command would wait until it times out.
  const signerName = signers.find(({ spec }) => (spec.requests?.rules ?? []).length > 0)?.spec
    .signerName;
  if (signerName === undefined) return '';
  return `  countersign request --signer ${shellWord(signerName)} --name ${OWN_NAME}\n`;
}
