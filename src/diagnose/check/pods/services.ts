// SPDX-License-Identifier: Apache-2.0
/** The check of Services, which give leaves their names. Pure: facts in, outcomes out. */
import { countPodCertificates, type Pod } from '#api/object/pod.ts';
import { hasSelectedEndpoints, selectsLabels, type Service } from '#api/object/service.ts';
import type { SignerState } from '#operations/signer-state.ts';
import { shellWord } from '#base/quote.ts';
import type { InstallationFacts, PodFacts } from '../facts.ts';
import { allWell, ok, warning, whereSeen, type Outcome } from '../finding.ts';
import { podList } from './named-pods.ts';

/** `services-select` */
export function checkServices({ pods, signers }: InstallationFacts): readonly Outcome[] {
  return whereSeen(signers, ({ states }) => {
    const naming = states.filter(({ signer }) => signer.spec.pods?.services !== undefined);
    if (naming.length === 0) return [ok('no signer puts names of Services into leaves')];
    return whereSeen(pods, (facts) =>
      whereSeen(facts.services, (services) =>
        allWell(
          naming.flatMap((state) => unselected(state, facts, services)),
          'a Service selects every pod whose leaf has names of Services',
        ),
      ),
    );
  });
}

function unselected(
  { signer }: SignerState,
  { mounting }: PodFacts,
  services: readonly Service[],
): readonly Outcome[] {
  const { signerName } = signer.spec;
  const alone = mounting.filter(
    (pod) =>
      countPodCertificates(pod, signerName) > 0 &&
      !services.some((each) => isBeside(each, pod) && selectsLabels(each, pod.metadata.labels)),
  );
  const byNamespace = Map.groupBy(alone, ({ metadata }) => metadata.namespace ?? '');
  return [...byNamespace].map(([namespace, pods]) => {
    const idle = services.filter(
      (each) =>
        each.metadata.namespace === namespace &&
        hasSelectedEndpoints(each) &&
        !mounting.some((pod) => isBeside(each, pod) && selectsLabels(each, pod.metadata.labels)),
    );
    const [service] = idle;
    const hint =
      service === undefined
        ? ''
        : `; Service ${service.metadata.name} selects none of them: ${selectorText(service)}`;
    return warning(
      `${podList(pods)}: no Service selects them, so that their leaves of ${signerName} have no name of a Service${hint}`,
      service === undefined
        ? `kubectl -n ${shellWord(namespace)} get services -o wide; kubectl -n ${shellWord(namespace)} get pods --show-labels`
        : `correct its selector, or the labels of the pods: kubectl -n ${shellWord(namespace)} edit service ${shellWord(service.metadata.name)}`,
      `clustersigner/${signer.metadata.name}`,
    );
  });
}

function isBeside({ metadata }: Service, pod: Pod): boolean {
  return metadata.namespace === pod.metadata.namespace;
}

function selectorText({ spec }: Service): string {
  return Object.entries(spec?.selector ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}
