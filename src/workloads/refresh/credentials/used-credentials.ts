// SPDX-License-Identifier: Apache-2.0
import type { PodVolume, TrustBundleSource } from '#api/object/pod.ts';
import { DEFAULT_MAX_EXPIRATION_SECONDS } from '#api/request/pod-certificate-request.ts';
import type { PodTemplate, TemplateContainer } from '#api/workload/workload.ts';

/** Use of a credential by a pod template. */
export interface CredentialUse {
  /**
   * True if a restarted container in the same pod does not read it again: an init container reads
   * it, or a `subPath` mount, which the kubelet never rewrites.
   */
  readonly untilPodEnds: boolean;
}

/** Use of a credential that the kubelet of a pod gets from a signer. */
export interface PodCertificateUse extends CredentialUse {
  /**
   * Number of projections of the same signer. A PodCertificateRequest does not name its projection.
   */
  readonly projections: number;
  /** Maximum lifetime of a leaf of these projections. */
  readonly maxExpirationSeconds: number;
}

/** Credentials that the containers of a pod, or of a pod template, read. */
export interface UsedCredentials {
  /** Uses by name of the Secret. */
  readonly secrets: ReadonlyMap<string, CredentialUse>;
  /** `podCertificate` projections, by signer name. */
  readonly podCertificates: ReadonlyMap<string, PodCertificateUse>;
  /** `clusterTrustBundle` projections: by name, or by signer name. */
  readonly bundles: readonly TrustBundleSource[];
}

/** A container, and whether it runs only once in the life of its pod. */
interface Reader {
  readonly container: TemplateContainer;
  readonly once: boolean;
}

/**
 * Returns the Secrets and credentials that a pod or a pod template uses: by volumes that a
 * container mounts, by `env` and `envFrom`, including init containers. Unmounted volumes do not
 * count. Image pull Secrets belong to the kubelet.
 */
export function usedCredentials({ spec = {} }: PodTemplate): UsedCredentials {
  const { volumes = [] } = spec;
  const secrets = new Map<string, CredentialUse>();
  /** Mounted volumes, with true if a container reads them only once. */
  const mounted = new Map<PodVolume, boolean>();
  const use = (name: string | undefined, untilPodEnds: boolean): void => {
    if (name === undefined || name === '') return;
    secrets.set(name, {
      untilPodEnds: untilPodEnds || secrets.get(name)?.untilPodEnds === true,
    });
  };
  for (const { container, once } of readersOf(spec)) {
    for (const name of environmentSecrets(container)) use(name, once);
    for (const { volume, isFixed } of mountsOf(container, volumes)) {
      mounted.set(volume, once || isFixed || mounted.get(volume) === true);
      for (const secret of volumeSecrets(volume)) use(secret, once || isFixed);
    }
  }
  const sources = [...mounted.keys()].flatMap(({ projected }) => projected?.sources ?? []);
  return {
    secrets,
    podCertificates: podCertificatesIn(mounted),
    bundles: sources.flatMap(({ clusterTrustBundle }) => clusterTrustBundle ?? []),
  };
}

function podCertificatesIn(
  mounted: ReadonlyMap<PodVolume, boolean>,
): ReadonlyMap<string, PodCertificateUse> {
  const found = [...mounted].flatMap(([{ projected }, untilPodEnds]) =>
    (projected?.sources ?? []).flatMap(({ podCertificate = {} }) => {
      const { signerName, maxExpirationSeconds = DEFAULT_MAX_EXPIRATION_SECONDS } = podCertificate;
      return signerName === undefined ? [] : [{ signerName, maxExpirationSeconds, untilPodEnds }];
    }),
  );
  const bySigner = Map.groupBy(found, ({ signerName }) => signerName);
  return new Map(
    [...bySigner].map(([signerName, all]) => [
      signerName,
      {
        untilPodEnds: all.some((each) => each.untilPodEnds),
        projections: all.length,
        maxExpirationSeconds: Math.max(...all.map((each) => each.maxExpirationSeconds)),
      },
    ]),
  );
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
