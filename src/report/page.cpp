// Puts pages together from their embedded parts.
#include "fovea/report/page.h"

#include "fovea/base/error.h"
#include "fovea/base/json_text.h"
#include "fovea/report/markup.h"

namespace fovea {
namespace {

// In JSON '<' stands only inside strings, where its code is the same to every reader; without it
// there is neither "</script>" nor "<!--" for the HTML parser to find.
std::string data_text(const nlohmann::json& data) {
  const std::string json = json_text(data);
  std::string result;
  for (const char c : json) {
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  }
  return result;
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string result;
  for (const std::string_view name : names) result += page_file(name);
  return result;
}

}  // namespace

std::string build_page(const PageParts& parts) {
  const std::string_view html = page_file(parts.html);
  std::string page;
  // One pass over the template: what is put in is not looked at again, so data may hold braces.
  size_t at = 0;
  for (size_t open = html.find("{{"); open != html.npos; open = html.find("{{", at)) {
    const size_t close = html.find("}}", open);
    check(close != html.npos, "page ", parts.html, ": {{ without }}");
    const std::string_view name = html.substr(open + 2, close - open - 2);
    page += html.substr(at, open - at);
    if (name == "title")
      page += escaped_markup(parts.title);
    else if (name == "style")
      page += joined(parts.styles);
    else if (name == "script")
      page += joined(parts.scripts);
    else if (name == "data")
      page += data_text(parts.data);
    else
      fail("page ", parts.html, ": no part is called {{", name, "}}");
    at = close + 2;
  }
  return page.append(html.substr(at));
}

}  // namespace fovea
