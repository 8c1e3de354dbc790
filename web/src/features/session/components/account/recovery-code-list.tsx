import { useState } from "react";
import { Copy, Download, Printer } from "lucide-react";
import { Button } from "@/components/ui/button";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import { saveFile } from "@/lib/save-file";

/** A list of new recovery codes, each of which can replace a second factor once. Buttons copy, download and print the codes. */
export function RecoveryCodeList({ codes }: { codes: readonly string[] }) {
  const t = useT();
  const { name } = useBoot().site;
  const [status, setStatus] = useState("");
  const title = t("account.codes.heading", { name });
  const text = `${title}\n\n${codes.join("\n")}\n`;

  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setStatus(t("account.codes.copied"));
    } catch {
      setStatus(t("account.codes.copyFailed"));
    }
  }

  const download = () => saveFile(new Blob([text], { type: "text/plain" }), "recovery-codes.txt");

  return (
    <div data-print>
      <p className="mt-3">{t("account.codes.body")}</p>
      <h3 className="mt-5 font-[560]">{title}</h3>
      <ul className="bg-shade mt-2 grid gap-x-8 gap-y-1 rounded-sm px-5 py-4 font-mono text-[1.125rem] sm:grid-cols-2">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="mt-4 flex flex-wrap gap-2 print:hidden">
        <Button variant="outline" size="sm" onClick={() => void copy()}>
          <Copy aria-hidden="true" size={18} strokeWidth={1.75} />
          {t("account.codes.copy")}
        </Button>
        <Button variant="outline" size="sm" onClick={download}>
          <Download aria-hidden="true" size={18} strokeWidth={1.75} />
          {t("account.codes.download")}
        </Button>
        <Button variant="outline" size="sm" onClick={() => window.print()}>
          <Printer aria-hidden="true" size={18} strokeWidth={1.75} />
          {t("account.codes.print")}
        </Button>
      </div>
      <p role="status" className="text-ink2 mt-2 min-h-6 text-sm print:hidden">
        {status}
      </p>
    </div>
  );
}
