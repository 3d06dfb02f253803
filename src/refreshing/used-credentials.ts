// SPDX-License-Identifier: Apache-2.0
import type { PodVolume } from '../api/object/pod.ts';
import type { PodTemplate, TemplateContainer } from '../api/workload/workload.ts';

/** How a pod template uses a credential. */
export interface CredentialUse {
  /**
   * A container that is started again in the same pod does not read it again: an init container reads it, or a `subPath`
   * mount, which the kubelet never rewrites.
   */
  readonly untilPodEnds: boolean;
}

/** What the containers of a pod template really read. */
export interface UsedCredentials {
  /** By name of the Secret. */
  readonly secrets: ReadonlyMap<string, CredentialUse>;
  /** The signer names of `podCertificate` projections. */
  readonly podCertificates: ReadonlySet<string>;
  /** `clusterTrustBundle` projections: by name, or by signer name. */
  readonly bundles: readonly UsedBundle[];
}

/** A `clusterTrustBundle` projection. */
export type UsedBundle = NonNullable<
  NonNullable<NonNullable<PodVolume['projected']>['sources']>[number]['clusterTrustBundle']
>;

/** A container, and whether it runs only once in the life of its pod. */
interface Reader {
  readonly container: TemplateContainer;
  readonly once: boolean;
}

/**
 * What a pod template uses of Secrets and credentials: by volumes that a container mounts, by `env` and `envFrom`, in init
 * containers too. A volume that nobody mounts is not used; image pull Secrets are the kubelet's.
 */
export function usedCredentials({ spec = {} }: PodTemplate): UsedCredentials {
  const { volumes = [] } = spec;
  const secrets = new Map<string, CredentialUse>();
  const mounted = new Set<PodVolume>();
  const use = (name: string | undefined, untilPodEnds: boolean): void => {
    if (name === undefined || name === '') return;
    secrets.set(name, {
      untilPodEnds: untilPodEnds || secrets.get(name)?.untilPodEnds === true,
    });
  };
  for (const { container, once } of readersOf(spec)) {
    for (const name of environmentSecrets(container)) use(name, once);
    for (const { volume, isFixed } of mountsOf(container, volumes)) {
      mounted.add(volume);
      for (const secret of volumeSecrets(volume)) use(secret, once || isFixed);
    }
  }
  const sources = [...mounted].flatMap(({ projected }) => projected?.sources ?? []);
  return {
    secrets,
    podCertificates: new Set(
      sources.flatMap(({ podCertificate }) => podCertificate?.signerName ?? []),
    ),
    bundles: sources.flatMap(({ clusterTrustBundle }) => clusterTrustBundle ?? []),
  };
}

function readersOf({
  containers = [],
  initContainers = [],
}: NonNullable<PodTemplate['spec']>): readonly Reader[] {
  return [
    ...containers.map((container) => ({ container, once: false })),
    ...initContainers.map((container) => ({
      container,
      once: container.restartPolicy !== 'Always',
    })),
  ];
}

function mountsOf(
  { volumeMounts = [] }: TemplateContainer,
  volumes: readonly PodVolume[],
): readonly { readonly volume: PodVolume; readonly isFixed: boolean }[] {
  return volumeMounts.flatMap(({ name, subPath = '', subPathExpr = '' }) => {
    const volume = volumes.find((each) => each.name === name);
    return volume === undefined ? [] : [{ volume, isFixed: subPath + subPathExpr !== '' }];
  });
}

function environmentSecrets({
  env = [],
  envFrom = [],
}: TemplateContainer): readonly (string | undefined)[] {
  return [
    ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ...envFrom.map(({ secretRef }) => secretRef?.name),
  ];
}

function volumeSecrets({ secret, projected }: PodVolume): readonly (string | undefined)[] {
  return [secret?.secretName, ...(projected?.sources ?? []).map((source) => source.secret?.name)];
}
