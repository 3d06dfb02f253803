// SPDX-License-Identifier: Apache-2.0
import type { PodSpec } from './stock-pods.ts';

const PATH = '/var/run/secrets/countersign.dev/workload';

const POD_CERTIFICATE = {
  signerName: 'example.com/own',
  keyType: 'ED25519',
  credentialBundlePath: 'c.pem',
};
const OWN = { name: 'own', projected: { sources: [{ podCertificate: POD_CERTIFICATE }] } };
/** A pod of its own volume, whose file it never sees renewed. */
export const BY_SUB_PATH: PodSpec = {
  volumes: [OWN],
  containers: [
    {
      name: 'a',
      image: 'x',
      volumeMounts: [{ name: 'own', mountPath: '/c.pem', subPath: 'c.pem' }],
    },
  ],
};

const mounting = (mount: object, volumes: readonly object[] = []): PodSpec =>
  ({
    volumes: [{ name: 'data', emptyDir: {} }, ...volumes],
    containers: [{ name: 'a', image: 'x' }],
    initContainers: [
      { name: 'first', image: 'x', volumeMounts: [{ name: 'data', mountPath: '/data', ...mount }] },
    ],
  }) as PodSpec;

/** Pods of the profile `workload`, or of what is said, and why each is refused. */
export const REFUSED: Readonly<
  Record<string, readonly [spec: PodSpec, says: RegExp, inject?: string]>
> = {
  'a profile that nobody made': [
    { containers: [{ name: 'a', image: 'x' }] },
    /names no profile of this cluster: workloads; the profiles are workload, db/,
    'workload,workloads',
  ],
  'a volume of the same name': [
    mounting({}, [{ name: 'countersign-workload', emptyDir: {} }]),
    /volume countersign-workload is there already and is not what the profile adds/,
  ],
  'a volume of the same name, for another signer': [
    mounting({}, [{ ...OWN, name: 'countersign-workload' }]),
    /volume countersign-workload is there already and is not what the profile adds/,
  ],
  'something else at the same path': [
    mounting({ mountPath: PATH }),
    /something else is mounted in container first at \/var\/run\/secrets\/countersign\.dev\/workload/,
  ],
  'something below the path': [
    mounting({ mountPath: `${PATH}/more` }),
    /container first mounts something below \/var\/run\/secrets\/countersign\.dev\/workload/,
  ],
  'our files by subPath': [
    mounting({ name: 'countersign-workload', mountPath: '/tls.pem', subPath: 'credentials.pem' }),
    /container first mounts certificates by subPath, and such a file is never renewed/,
  ],
  'our files by subPathExpr': [
    mounting({ name: 'countersign-workload', mountPath: '/tls.pem', subPathExpr: 'key.pem' }),
    /container first mounts certificates by subPath/,
  ],
  'files of its own by subPath': [
    mounting({ name: 'own', mountPath: '/tls.pem', subPath: 'c.pem' }, [OWN]),
    /container first mounts certificates by subPath/,
  ],
  'a variable of the same name': [
    {
      containers: [
        {
          name: 'a',
          image: 'x',
          env: [{ name: 'COUNTERSIGN_WORKLOAD_CREDENTIALS', value: '/mine' }],
        },
      ],
    },
    /container a has another value in COUNTERSIGN_WORKLOAD_CREDENTIALS, which the profile sets/,
  ],
};
