// SPDX-License-Identifier: Apache-2.0
/**
 * Creates pods that mount bundles of the run. Checks whether they start, and does not read their
 * files.
 */
import { recordOf } from '#base/object-keys.ts';
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import { MOUNTS, type Mount } from '#conformance/ctb/snapshot.ts';
import type { Operation } from '#conformance/snapshot.ts';
import { inParallel } from '#base/in-parallel.ts';
import { podOf, readPod, runs, blockedText } from '../pods.ts';
import { certificatesRule, coreRule, signerRule } from '../permissions.ts';
import { StepSkipped, check, skipSteps, runStep } from '../steps.ts';
import { createBundle, freshCertificate, type CtbRun } from './create-bundle.ts';
import { runSignerName } from '../run.ts';
import { PODS } from '#kube/resource/core-v1.ts';

/** The number in upstream's test. */
const MANY = 150;

const ALIVE = 'conformance.countersign.dev/alive';

type Sources = readonly (readonly object[])[];

export async function bundleMounts(ctb: CtbRun): Promise<Readonly<Record<Mount, Operation>>> {
  const { run, bundles } = ctb;
  const [signerName, manyName] = [runSignerName(run, 'mounts'), runSignerName(run, 'many')];
  const missing = await run.permissions.missing(
    certificatesRule(['create', 'delete'], bundles.plural),
    signerRule('attest', signerName),
    signerRule('attest', manyName),
    coreRule(['create', 'get', 'delete'], 'pods', run.namespace),
  );
  if (missing !== undefined) return skipSteps(MOUNTS, missing);
  const unlinked = `conformance-${run.id}-mounts`;
  const many = Array.from({ length: MANY }, (_, index) => bundleName(manyName, String(index)));
  await createBundle(ctb, { name: unlinked, trustBundle: await freshCertificate(ctb, 'Unlinked') });
  for (const [index, alive] of ['true', 'true', 'false'].entries()) {
    const trustBundle = await freshCertificate(ctb, `Mounts ${index}`);
    const name = bundleName(signerName, String(index));
    await createBundle(ctb, { name, signerName, trustBundle, labels: { [ALIVE]: alive } });
  }
  await inParallel(many, async (name) => {
    const trustBundle = await freshCertificate(ctb, name);
    return createBundle(ctb, { name, signerName: manyName, trustBundle });
  });
  const volumes = volumesOf({ signerName, manyName, unlinked, many });
  const found = await inParallel(
    MOUNTS,
    async (name) => [name, await mount(ctb, name, volumes[name])] as const,
  );
  return recordOf(found);
}

interface Names {
  readonly signerName: string;
  readonly manyName: string;
  readonly unlinked: string;
  readonly many: readonly string[];
}

function volumesOf({
  signerName,
  manyName,
  unlinked,
  many,
}: Names): Readonly<Record<Mount, Sources>> {
  const path = 'trust-anchors.pem';
  const bundle = (fields: object): object => ({ clusterTrustBundle: { path, ...fields } });
  const labelled = (value: string): object => ({
    labelSelector: { matchLabels: { [ALIVE]: value } },
  });
  const absent = { name: `${unlinked}-absent` };
  const manyFiles = many.map((name, index) => bundle({ name, path: `${index}.pem` }));
  return {
    byName: [[bundle({ name: unlinked })]],
    absentOptional: [[bundle({ ...absent, optional: true })]],
    byLabels: [[bundle({ signerName, ...labelled('true') })]],
    nilSelectorOptional: [[bundle({ signerName, optional: true })]],
    noMatchOptional: [[bundle({ signerName, ...labelled('unknown'), optional: true })]],
    emptySelector: [[bundle({ signerName, labelSelector: {} })]],
    noMatchRequired: [[bundle({ signerName, ...labelled('unknown'), optional: false })]],
    absentRequired: [[bundle({ ...absent, optional: false })]],
    severalVolumes: [[bundle({ name: unlinked })], [bundle({ signerName, ...labelled('false') })]],
    manySources: [manyFiles],
    manyVolumes: manyFiles.map((each) => [each]),
    manyJoined: [[bundle({ signerName: manyName, labelSelector: {} })]],
  };
}

const NEVER: ReadonlySet<Mount> = new Set(['noMatchRequired', 'absentRequired']);

function mount({ run }: CtbRun, name: Mount, sources: Sources): Promise<Operation> {
  return runStep(async () => {
    await run.created.create(PODS, podOf(run, name, sources));
    if (!NEVER.has(name)) {
      check(
        await runs(run, name, run.timeoutMs),
        `it does not run after ${run.timeoutMs / 1000} s`,
      );
      return 'it runs';
    }
    check(!(await runs(run, name, run.quietMs)), 'it runs');
    const pod = await readPod(run, name);
    const blocked = blockedText(pod);
    if (blocked !== undefined) throw new StepSkipped(blocked);
    const { status } = pod;
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    check(
      status?.conditions?.some(
        ({ type, status: value }) => type === 'PodScheduled' && value === 'True',
      ) === true,
      'it was not even scheduled',
    );
    return `not running after ${run.quietMs / 1000} s: ${ready?.reason ?? 'no condition Ready'}`;
  });
}
