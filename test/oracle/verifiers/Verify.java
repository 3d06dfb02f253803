// SPDX-License-Identifier: Apache-2.0
// Usage: java Verify.java SENT ANCHOR. Exits with 0 if the chain verifies, with 3 if it does not.
import java.io.FileInputStream;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

public class Verify {
    public static void main(String[] args) throws Exception {
        CertificateFactory x509 = CertificateFactory.getInstance("X.509");
        List<Certificate> sent = new ArrayList<>(x509.generateCertificates(new FileInputStream(args[0])));
        X509Certificate anchor = (X509Certificate) x509.generateCertificate(new FileInputStream(args[1]));
        // As PKIXValidator does: the path ends before the anchor.
        sent.removeIf(anchor::equals);
        PKIXParameters parameters = new PKIXParameters(Set.of(new TrustAnchor(anchor, null)));
        parameters.setRevocationEnabled(false);
        try {
            CertPathValidator.getInstance("PKIX").validate(x509.generateCertPath(sent), parameters);
        } catch (CertPathValidatorException rejected) {
            System.exit(3);
        }
    }
}
