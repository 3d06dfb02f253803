// SPDX-License-Identifier: Apache-2.0
/** The key holder beside a component: its configuration, and the files and socket that it has. */
import { HOLDER_API_VERSION, HOLDER_KIND } from '#ca/key-holder/protocol.ts';
import type { ComputeResources } from '#component/descriptor.ts';
import { isRecord } from '#base/record.ts';
import type { Manifest } from './roles.ts';

/** Directory of the socket's directory, which the component mounts, too. */
export const SOCKETS_DIRECTORY = '/run/countersign/key-holder';
/** The socket of the component. Each pod has its own holder, so each has the same path. */
export const HOLDER_SOCKET = `${SOCKETS_DIRECTORY}/sockets/component.sock`;
/** Mode 0440: the owner is root, and the group is that of the pod (fsGroup). */
export const HELD_KEY_MODE = 0o440;
/** Directory of the keys, which the sidecar alone mounts. */
export const KEYS_DIRECTORY = '/run/countersign/keys';

/**
 * CPU and memory of the sidecar. With one key it took 77 MiB when it had started, and 116 MiB after
 * 2,000 signatures, 24 at once (`make bench-key-holder`). The limit leaves room for bursts.
 */
export const HOLDER_RESOURCES: ComputeResources = {
  requests: { cpu: '20m', memory: '128Mi' },
  limits: { memory: '256Mi' },
};

/** The same with PKCS#11, whose module runs in a process of its own: 66 MiB with SoftHSM2. */
export const HOLDER_TOKEN_RESOURCES: ComputeResources = {
  requests: { cpu: '20m', memory: '192Mi' },
  limits: { memory: '384Mi' },
};

/** Directory of the files of a PKCS#11 module, which the sidecar alone mounts. */
export const MODULE_DIRECTORY = '/run/countersign/module';
/** Name of their volume. */
const MODULE_FILES = 'key-holder-module';

/** The module of PKCS#11 tokens, as the values have it. */
interface SidecarModule {
  /** Image of the sidecar. */
  readonly image: string;
  readonly module: string;
  readonly env?: readonly Manifest[];
  /** Secret with its files. */
  readonly files?: string;
}

/** A key of a holder, as the values have it. */
interface SidecarKey {
  readonly name: string;
  /** Secret in the namespace of the components. */
  readonly secret: string;
  /** The Secret has a passphrase. */
  readonly encrypted?: boolean;
  /** The key is in a token, and the Secret has its PIN. */
  readonly pkcs11?: { readonly token: string; readonly label: string; readonly id?: string };
  readonly signerNames: readonly string[];
  /** Limits of leaves, as in the configuration of the holder. */
  readonly leaf: object;
}

/** The sidecar of one component. */
export interface SidecarPlan {
  /** Arguments after the subcommand `key-holder`. */
  readonly args: readonly string[];
  /** core/v1 VolumeProjection of the keys. */
  readonly sources: readonly Manifest[];
  readonly resources: ComputeResources;
  /** Its image. Undefined for that of the components. */
  readonly image: string | undefined;
  /** core/v1 EnvVar. */
  readonly env: readonly Manifest[];
  /** core/v1 Volume and VolumeMount of the files of a PKCS#11 module. */
  readonly volumes: readonly Manifest[];
  readonly mounts: readonly Manifest[];
}

/** Returns the parts of a sidecar that a PKCS#11 module adds. */
export function moduleParts(
  module: SidecarModule | undefined,
): Pick<SidecarPlan, 'image' | 'env' | 'volumes' | 'mounts'> {
  const { image, env = [], files } = module ?? {};
  if (files === undefined) return { image, env, volumes: [], mounts: [] };
  const secret = { secretName: files, defaultMode: HELD_KEY_MODE };
  return {
    image,
    env,
    volumes: [{ name: MODULE_FILES, secret }],
    mounts: [{ name: MODULE_FILES, mountPath: MODULE_DIRECTORY, readOnly: true }],
  };
}

/** Returns the argument with the configuration, which becomes a part of the pod itself. */
export function sidecarArguments(
  keys: readonly SidecarKey[],
  module: SidecarModule | undefined,
): readonly string[] {
  return [`--configuration=${sidecarConfiguration(keys, module?.module ?? '')}`];
}

/** Returns the configuration of a holder with one socket, as JSON with sorted names. */
function sidecarConfiguration(keys: readonly SidecarKey[], module: string): string {
  const held = keys.map(({ name, encrypted = false, pkcs11, signerNames }) => {
    const file = (key: string): string => `${KEYS_DIRECTORY}/${name}/${key}`;
    if (pkcs11 !== undefined) {
      const inToken = { ...pkcs11, module, pinFile: file('pin') };
      return { name, pkcs11: inToken, certificate: file('ca.crt'), signerNames };
    }
    const passphrase = encrypted ? { passphraseFile: file('passphrase') } : {};
    return { name, file: file('ca.key'), ...passphrase, certificate: file('ca.crt'), signerNames };
  });
  const uses = keys.map(({ name: key, leaf }) => ({ key, leaf }));
  return sortedJson({
    apiVersion: HOLDER_API_VERSION,
    kind: HOLDER_KIND,
    keys: held,
    sockets: [{ path: HOLDER_SOCKET, uses }],
  });
}

/** Returns the sources of the volume of the keys, each in a directory of its name. */
export function sidecarSources(keys: readonly SidecarKey[]): readonly Manifest[] {
  return keys.map((key) => ({
    secret: {
      name: key.secret,
      items: filesOf(key).map((file) => ({ key: file, path: `${key.name}/${file}` })),
    },
  }));
}

function filesOf({ pkcs11, encrypted = false }: SidecarKey): readonly string[] {
  if (pkcs11 !== undefined) return ['ca.crt', 'pin'];
  return ['ca.key', 'ca.crt', ...(encrypted ? ['passphrase'] : [])];
}

/** Returns JSON with the names of each object in order, as Helm writes it. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (!isRecord(each)) return each;
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
