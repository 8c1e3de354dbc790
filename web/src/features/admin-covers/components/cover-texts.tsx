import type { UseFormReturn } from "react-hook-form";
import { TwoLanguages } from "@/components/form/two-languages";
import type { CoverValues } from "@/features/admin-covers/schema";
import { useT } from "@/lib/i18n";

type CoverTextsProps = {
  form: Pick<UseFormReturn<CoverValues>, "register" | "control" | "setValue" | "setFocus">;
};

/** The texts of a cover in both languages: title, description and alternative text. */
export function CoverTexts({ form }: CoverTextsProps) {
  const t = useT();
  return (
    <>
      <TwoLanguages form={form} names={{ en: "title", pt: "title_pt" }} label={t("covers.title")} />
      <TwoLanguages
        form={form}
        names={{ en: "description", pt: "description_pt" }}
        label={t("covers.description")}
      />
      <TwoLanguages
        form={form}
        names={{ en: "alt_en", pt: "alt_pt" }}
        label={t("covers.alt")}
        hint={t("covers.altHint")}
      />
    </>
  );
}
