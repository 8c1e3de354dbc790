import { useEffect, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { useLanguage } from "@/lib/i18n";
import { rowText } from "@/lib/local-text";
import { scrollToSectionAfterNavigation } from "@/lib/scroll";
import type { Product } from "@/lib/types";
import type { Enquiry } from "@/features/contact/enquiry";

/** The state of the home page's history entry after useStartEnquiry has navigated to it. */
type HistoryState = { enquiry?: Enquiry };

/**
 * Returns a function that starts an enquiry (a new message about a work): it navigates to the contact form, and the form's message
 * names the work. The contact reason is "commission" for a customizable work, else "purchase".
 */
export function useStartEnquiry(): (product: Product) => void {
  const navigate = useNavigate();
  const { language } = useLanguage();
  return (product) => {
    const enquiry: Enquiry = { ...product, title: rowText(language, product, "title").text };
    void navigate("/", { state: { enquiry } satisfies HistoryState });
    scrollToSectionAfterNavigation("contact");
  };
}

/**
 * The enquiry that the visitor has started by the function of useStartEnquiry, on any page. It is moved from the history
 * entry to the state of the home page, so that a reload does not repeat it.
 */
export function useEnquiry(): Enquiry | null {
  const location = useLocation();
  const navigate = useNavigate();
  const [enquiry, setEnquiry] = useState<Enquiry | null>(null);
  const startedEnquiry = (location.state as HistoryState | null)?.enquiry;
  const { search } = location;

  // Moves the enquiry from the history entry to the state.
  useEffect(() => {
    if (!startedEnquiry) return;
    setEnquiry(startedEnquiry);
    void navigate({ pathname: "/", search }, { replace: true, state: null });
  }, [startedEnquiry, search, navigate]);

  return enquiry;
}
