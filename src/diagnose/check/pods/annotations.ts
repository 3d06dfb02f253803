// SPDX-License-Identifier: Apache-2.0
/** The check of annotations that no component understands. Pure: facts in, outcomes out. */
import { closest } from '#base/closest-name.ts';
import { shellWord } from '#base/quote.ts';
import { INJECT, INJECTION, profileNamesOf } from '#install/admission/injection/profiles.ts';
import {
  unreadAnnotations,
  type AnnotatedObject,
  type UnreadAnnotation,
} from '#operations/pods/unread-annotations.ts';
import type { InstallationFacts } from '../facts.ts';
import { allWell, warning, whereSeen, type Outcome } from '../finding.ts';

/** `annotations-known` */
export function checkAnnotations({ annotated, policies }: InstallationFacts): readonly Outcome[] {
  const policy = 'value' in policies ? policies.value.get(INJECTION)?.policy : undefined;
  // If the user may not read the policies, `policies-equal` reports it.
  const profiles = policy === undefined ? undefined : profileNamesOf(policy);
  return whereSeen(annotated, (all) =>
    allWell(
      all.flatMap((object) =>
        [...unreadAnnotations(object), ...unknownProfiles(object, profiles)].map(
          ({ why, remediation }) =>
            warning(
              why,
              remediation,
              `${object.kind}/${object.name} in namespace ${object.namespace}`,
            ),
        ),
      ),
      'every countersign.dev annotation in the namespaces that opted in is known',
    ),
  );
}

/**
 * Returns the profiles in the annotation of a pod that do not exist. The API server rejects such a
 * pod.
 *
 * @param profiles - those of the policy of injection, or undefined if it does not exist
 */
function unknownProfiles(
  object: AnnotatedObject,
  profiles: readonly string[] | undefined,
): readonly UnreadAnnotation[] {
  const value = readProfiles(object);
  if (profiles === undefined || value === '') return [];
  const names = value.split(',').map((each) => each.trim());
  const unknown = names.filter((each) => !profiles.includes(each));
  if (unknown.length === 0) return [];
  const called = unknown.length === 1 ? 'the profile' : 'the profiles';
  const exist = unknown.length === 1 ? 'does not exist' : 'do not exist';
  const listed = unknown.map((each) => JSON.stringify(each)).join(', ');
  const why = `annotation ${INJECT} names ${called} ${listed}, which ${exist} (profiles: ${profiles.join(', ')}): the API server rejects its new pods`;
  return [{ why, remediation: correction(object, names, profiles) }];
}

/** Returns the annotation where the policy of injection reads it, or an empty text. */
function readProfiles({ kind, annotations, inTemplate, isInjected }: AnnotatedObject): string {
  // On a workload itself the annotation has no effect, and unreadAnnotations reports that.
  const isRead = isInjected === true && (inTemplate || kind === 'pod');
  return isRead ? (annotations[INJECT] ?? '') : '';
}

/** Returns the command that writes the profiles that were probably meant. */
function correction(
  { kind, name, namespace }: AnnotatedObject,
  names: readonly string[],
  profiles: readonly string[],
): string {
  if (kind === 'pod') return 'write one of these profiles into the manifest of the pod';
  const kubectl = `kubectl -n ${shellWord(namespace)}`;
  const meant = names.map((each) => (profiles.includes(each) ? each : closest(each, profiles)));
  if (meant.includes(undefined)) return `${kubectl} edit ${kind} ${shellWord(name)}`;
  const template = { metadata: { annotations: { [INJECT]: meant.join(',') } } };
  const patch = shellWord(JSON.stringify({ spec: { template } }));
  return `${kubectl} patch ${kind} ${shellWord(name)} --type=merge -p ${patch}`;
}
