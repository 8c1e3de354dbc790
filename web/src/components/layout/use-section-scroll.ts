import { useLocation, useNavigate } from "react-router";
import { scrollToSection, scrollToSectionSoon } from "@/lib/scroll";

/** Scrolls to a section of the home page, going there first from any other page. */
export function useSectionScroll(): (id: string) => void {
  const { pathname } = useLocation();
  const navigate = useNavigate();
  return (id) => {
    if (pathname === "/") {
      scrollToSection(id);
      return;
    }
    void navigate("/");
    scrollToSectionSoon(id);
  };
}
