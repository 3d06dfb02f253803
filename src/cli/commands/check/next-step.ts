// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { CheckReport } from '#diagnose/check/report.ts';
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
 * first certificate of the existing signers.
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
  return ['Next:\n', show, forPods(own), forPeople(own)].join('');
}

function forPods(signers: readonly ClusterSigner[]): string {
  const signerName = signers.find(({ spec }) => spec.pods !== undefined)?.spec.signerName;
  if (signerName === undefined) return '';
  if (signerName === EXAMPLE) return '  kubectl apply -f deploy/examples/pod.yaml\n';
  return `  sed s,${EXAMPLE},${shellWord(signerName)}, deploy/examples/pod.yaml | kubectl apply -f -\n`;
}

function forPeople(signers: readonly ClusterSigner[]): string {
  // Without rules a person decides, and the command would wait until it times out.
  const signerName = signers.find(({ spec }) => (spec.requests?.rules ?? []).length > 0)?.spec
    .signerName;
  if (signerName === undefined) return '';
  return `  countersign request --signer ${shellWord(signerName)} --name ${OWN_NAME}\n`;
}
