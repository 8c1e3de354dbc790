import { useState, type ComponentType, type MouseEvent } from "react";
import { Button } from "@/components/ui/button";
import {
  DialogClose,
  DialogContent,
  DialogRoot,
  DialogTitle,
  focusDialog,
} from "@/components/ui/dialog";
import type { Language, SiteTexts } from "@/lib/boot";
import { LANGUAGES } from "@/lib/constants";
import { useLanguage, useT } from "@/lib/i18n";

/** A component that renders those parts of the public pages that show the settings. */
export type PreviewComponent = ComponentType<{ site: SiteTexts; language: Language }>;

type PreviewDialogProps = {
  /** The settings to preview. Null closes the dialog. */
  site: SiteTexts | null;
  preview: PreviewComponent;
  onClose(): void;
};

/** The dialog in which the owner previews the settings of the form, saved or not, in either language. */
export function PreviewDialog({ site, preview: PreviewContent, onClose }: PreviewDialogProps) {
  const t = useT();
  const { language: pageLanguage } = useLanguage();
  const [language, setLanguage] = useState(pageLanguage);
  return (
    <DialogRoot
      open={site !== null}
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <DialogContent
        overlayClassName="grid"
        onOpenAutoFocus={focusDialog}
        className="flex h-dvh flex-col outline-none"
      >
        <div className="border-line flex flex-none flex-wrap items-center gap-x-6 gap-y-2 border-b py-2.5 pr-16 pl-(--spacing-gutter)">
          <DialogTitle className="text-[1.5rem] leading-tight font-[350]">
            {t("settings.preview")}
          </DialogTitle>
          <div role="group" aria-label={t("settings.previewLanguage")} className="flex gap-2">
            {LANGUAGES.map((choice) => (
              <Button
                key={choice}
                variant={choice === language ? "primary" : "outline"}
                size="sm"
                aria-pressed={choice === language}
                onClick={() => setLanguage(choice)}
              >
                {t(`settings.language.${choice}`)}
              </Button>
            ))}
          </div>
        </div>
        <div
          lang={language}
          onClickCapture={preventNavigation}
          className="bg-page min-h-0 flex-1 overflow-y-auto overscroll-contain"
        >
          {site && <PreviewContent site={site} language={language} />}
        </div>
        <DialogClose className="top-1.5 right-2" />
      </DialogContent>
    </DialogRoot>
  );
}

/** Ignores clicks on links of the preview, because they would leave the form. Links that open a new tab still work. */
function preventNavigation(event: MouseEvent) {
  const link = event.target instanceof Element && event.target.closest("a");
  if (link && link.target !== "_blank") {
    event.preventDefault();
    event.stopPropagation();
  }
}
