// SPDX-License-Identifier: Apache-2.0
/**
 * Finds annotations below `countersign.dev/` that no component reads: a typing error, the right
 * name in the wrong place, or an invalid value. Pure.
 */
import { closest } from '#base/closest-name.ts';
import { REFRESH, REFRESH_MODES, evictionProblem, optInOf } from '#workloads/refresh/opt-in.ts';
import { shellWord } from '#base/quote.ts';

/** Prefix of this project's annotations. */
export const ANNOTATION_PREFIX = 'countersign.dev/';

/**
 * `pod`: a pod, or the template of one. `workload`: the Deployment, StatefulSet or DaemonSet
 * itself.
 */
type AnnotationPlace = 'pod' | 'workload';

/** Place where a component reads each name: the admission policy of injection, or pod-refresher. */
const READ_ON: Readonly<Record<string, AnnotationPlace>> = {
  inject: 'pod',
  'evict-before-expiry': 'pod',
  // pod-refresher records here which certificates it restarted pods for.
  certificates: 'pod',
  refresh: 'workload',
  'refresh-by': 'workload',
  'refresh-window': 'workload',
  // The chart sets it on its Deployments.
  'values-digest': 'workload',
};

const PLACE_TEXT: Readonly<Record<AnnotationPlace, string>> = {
  pod: 'its pod template',
  workload: 'the workload itself',
};

type Annotations = Readonly<Record<string, string>>;

/** An object with annotations. */
export interface AnnotatedObject {
  /** Kind as kubectl spells it: `deployment`, `statefulset`, `daemonset` or `pod`. */
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly annotations: Annotations;
  /** Whether the annotations are in its pod template, and not on the object itself. */
  readonly inTemplate: boolean;
  /** Whether its namespace opted in to injection. Absent if the namespace was not read. */
  readonly isInjected?: boolean;
}

/** An annotation without effect at its place. */
export interface UnreadAnnotation {
  readonly why: string;
  /**
   * A command that moves the annotation to the right name or place, if that is clear, or else
   * removes it.
   */
  readonly remediation: string;
}

/**
 * Returns the annotations of an object that no component reads there, and those whose value no
 * component understands.
 */
export function unreadAnnotations(object: AnnotatedObject): readonly UnreadAnnotation[] {
  const { kind, inTemplate } = object;
  const place: AnnotationPlace = inTemplate || kind === 'pod' ? 'pod' : 'workload';
  return [...misplaced(object, place), ...unreadable(object, place)];
}

/** Returns the annotations with a value that their component rejects. */
function unreadable(object: AnnotatedObject, place: AnnotationPlace): readonly UnreadAnnotation[] {
  const { kind, name, namespace, annotations } = object;
  const edit = `kubectl -n ${shellWord(namespace)} edit ${kind} ${shellWord(name)}`;
  if (place === 'pod') {
    const message = evictionProblem(annotations);
    const why = `${message ?? ''}: the pod is not evicted`;
    return message === undefined ? [] : [{ why, remediation: edit }];
  }
  const optIn = optInOf({ metadata: { annotations } });
  if (optIn.kind !== 'invalid') return [];
  const mode = annotations[REFRESH] ?? '';
  const meant = REFRESH_MODES.includes(mode) ? undefined : closest(mode, REFRESH_MODES);
  const patch = mergePatch([[false, { [REFRESH]: meant }]]);
  const remediation =
    meant === undefined
      ? edit
      : `kubectl -n ${shellWord(namespace)} patch ${kind} ${shellWord(name)} --type=merge -p ${shellWord(JSON.stringify(patch))}`;
  return [{ why: `${optIn.message}: pod-refresher does not restart it`, remediation }];
}

function misplaced(object: AnnotatedObject, place: AnnotationPlace): readonly UnreadAnnotation[] {
  const { annotations } = object;
  return Object.keys(annotations)
    .filter((key) => key.startsWith(ANNOTATION_PREFIX))
    .flatMap((key) => {
      const name = key.slice(ANNOTATION_PREFIX.length);
      const readOn = Object.hasOwn(READ_ON, name) ? READ_ON[name] : undefined;
      if (readOn === place) return [];
      const meant = readOn === undefined ? closest(name, Object.keys(READ_ON)) : name;
      const effect = `no component reads its annotation ${key}, so that it has no effect`;
      return [{ why: `${effect}${hint(name, meant)}`, remediation: remedy(object, key, meant) }];
    });
}

function hint(name: string, meant: string | undefined): string {
  const place = meant === undefined ? undefined : READ_ON[meant];
  if (meant === undefined || place === undefined) return '';
  return meant === name
    ? `; it is read on ${PLACE_TEXT[place]}`
    : `; ${ANNOTATION_PREFIX}${meant} exists`;
}

function remedy(object: AnnotatedObject, key: string, meant: string | undefined): string {
  const { kind, name, namespace } = object;
  const kubectl = `kubectl -n ${shellWord(namespace)}`;
  // The policy of injection acts when a pod is created.
  if (kind === 'pod' && meant === 'inject') {
    const rename = shellWord(`s#${key}#${ANNOTATION_PREFIX}${meant}#`);
    return `${kubectl} get pod ${shellWord(name)} -o yaml | sed ${rename} | kubectl replace --force -f -`;
  }
  const patch = shellWord(JSON.stringify(patchOf(object, key, meant)));
  return `${kubectl} patch ${kind} ${shellWord(name)} --type=merge -p ${patch}`;
}

/** Returns a patch that removes the annotation, and writes its value to the right place. */
function patchOf(
  { kind, annotations, inTemplate }: AnnotatedObject,
  key: string,
  meant: string | undefined,
): object {
  const taken = [inTemplate, { [key]: null }] as const;
  const place = meant === undefined ? undefined : READ_ON[meant];
  // A pod has no workload to move an annotation to.
  if (place === undefined || (kind === 'pod' && place === 'workload')) return mergePatch([taken]);
  const right = `${ANNOTATION_PREFIX}${meant ?? ''}`;
  const isFree = right === key || annotations[right] === undefined;
  const toTemplate = place === 'pod' && kind !== 'pod';
  return mergePatch(isFree ? [taken, [toTemplate, { [right]: annotations[key] }]] : [taken]);
}

/** Returns a merge patch of annotations, of the template or of the object itself. */
function mergePatch(changes: readonly (readonly [inTemplate: boolean, object])[]): object {
  const of = (wanted: boolean): object => {
    const annotations = Object.fromEntries(
      changes.flatMap(([is, each]) => (is === wanted ? Object.entries<unknown>({ ...each }) : [])),
    );
    return Object.keys(annotations).length === 0 ? {} : { metadata: { annotations } };
  };
  const template = of(true);
  return { ...of(false), ...(Object.keys(template).length === 0 ? {} : { spec: { template } }) };
}
